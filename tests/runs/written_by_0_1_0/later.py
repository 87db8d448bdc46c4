def my_agent(context):
    if context["a"] == 7:
        raise RuntimeError("the model is away")
    return context["a"] + context["b"]
