"""Other libraries' names over vicinal's learners, so that a user changes one import line.

metric_learn   the names, signatures and verbs that metric-learn documents
"""
