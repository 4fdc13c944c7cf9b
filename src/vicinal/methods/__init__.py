"""The methods every command knows by name: one entry in ``_table`` adds one."""

from vicinal.methods._table import METHODS, Method, choose_methods, get_method, list_methods

__all__ = ["METHODS", "Method", "choose_methods", "get_method", "list_methods"]
