"""Sources of agents for whole runs of the mobility benchmarks."""

# Leaves for work at 8, goes home at 17, and stays there on days without work.
COMMUTER = """
class Commuter:
    def __init__(self, city, profile):
        self.city, self.number = city, int(profile["id"])

    def step(self, now):
        hour = now.seconds / 3600
        if now.tick == 0 or hour == 23:
            self.city.intend("sleep")
        elif hour == 7:
            self.city.intend("home activity")
        elif hour == 8 and self.city.work is not None:
            self.city.intend("work")
            self.city.go_to(self.city.work, "walking" if self.number % 4 == 0 else "driving")
        elif hour == 17:
            self.city.intend("home activity")
            self.city.go_to(self.city.home)
"""

# The four values alone: no map is needed.
FOUR_VALUES = """
def live(context):
    sequence = [1] * 14 + [2] * 4 + [4] * 18 + [2] * 10 + [1] * 2
    return {
        "gyration_radius": 1000.0 + context["profile"]["id"],
        "daily_location_numbers": 2,
        "intention_sequences": sequence,
        "intention_proportions": [sequence.count(code) / 48 for code in range(1, 8)],
    }
"""
