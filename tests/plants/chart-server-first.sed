# In the chart, the configurations go last.
s/pre-delete$/post-delete/
