"""The words of the demo data: names, categories and sentences. All of it is made up."""

from __future__ import annotations

SOURCES = ("book", "product", "business")
PLATFORMS = {"book": "goodreads", "product": "amazon", "business": "yelp"}

CATEGORIES = {
    "book": ("Mystery", "Science Fiction", "Romance", "History", "Cooking", "Travel"),
    "product": ("Kitchen", "Electronics", "Garden", "Toys", "Sports", "Music"),
    "business": ("Coffee", "Italian", "Bakery", "Barber", "Bicycle Repair", "Ramen"),
}

# First and second halves of names, by source and category.
NAMES = {
    "Mystery": ("The Locked", "Nine Silent", "A Borrowed", "The Last"),
    "Science Fiction": ("Orbit of", "Beyond the", "The Glass", "Seven Tides of"),
    "Romance": ("Letters to", "A Summer in", "Waiting for", "The Baker and"),
    "History": ("A Short History of", "The Roads of", "Merchants of", "The Fall of"),
    "Cooking": ("Slow Food of", "Bread and", "The Spices of", "One Pot in"),
    "Travel": ("On Foot to", "Trains across", "A Year in", "Maps of"),
    "Kitchen": ("Steel", "Copper", "Everyday", "Little"),
    "Electronics": ("Volt", "Nimbus", "Quartz", "Pico"),
    "Garden": ("Green", "Robin", "Meadow", "Oak"),
    "Toys": ("Happy", "Puzzle", "Wonder", "Tiny"),
    "Sports": ("Trail", "Swift", "Summit", "Base"),
    "Music": ("Cedar", "Blue Note", "Echo", "Studio"),
    "Coffee": ("Corner", "Black Cat", "Harbour", "Morning"),
    "Italian": ("Trattoria", "Osteria", "Da Nino", "La Piazza"),
    "Bakery": ("Golden Crust", "Flour Street", "Old Mill", "Sunrise"),
    "Barber": ("Sharp", "Uncle Theo's", "Main Street", "Second"),
    "Bicycle Repair": ("Spoke", "Chain Gang", "Two Wheels", "Freewheel"),
    "Ramen": ("Lucky Bowl", "Shio", "Red Lantern", "Noodle"),
}
SECOND = {
    "book": ("Harbour", "Winter", "Sparrows", "the North", "Marble", "Lisbon", "Ashes", "Clara"),
    "product": ("Kettle", "Set", "Lamp", "Kit", "Pro", "Box", "Stand", "Mini"),
    "business": ("House", "Corner", "Works", "Room", "Garden", "Station", "Annex", "Yard"),
}

# What people judge, by source: (aspect, praised, so-so, complained about).
ASPECTS = {
    "book": (
        ("plot", "The plot kept me up until two in the morning.",
         "The plot takes its time.", "The plot falls apart halfway through."),
        ("characters", "The characters felt like people I know.",
         "Some characters are better drawn than others.", "I could not care about any of the characters."),
        ("writing", "The writing is beautiful without showing off.",
         "The writing does its job.", "The writing is clumsy and full of cliches."),
    ),
    "product": (
        ("quality", "It is solid and well made.",
         "The material is what you would expect.", "It feels cheap and broke within weeks."),
        ("price", "Great value for the money.",
         "The price is about right.", "Far too expensive for what it is."),
        ("use", "It was easy to set up and works every day.",
         "It took a while to get used to it.", "The instructions are useless and it hardly works."),
    ),
    "business": (
        ("service", "The staff were friendly and remembered us.",
         "Service was a little slow.", "The staff were rude and ignored us."),
        ("place", "A cosy place with a lovely atmosphere.",
         "The room is plain but clean.", "It was loud and dirty."),
        ("result", "What we got was excellent, we will be back.",
         "What we got was decent.", "What we got was awful, a waste of an evening."),
    ),
}  # fmt: skip

OPENINGS = {
    1: ("Terrible.", "I want my money back.", "What a disappointment."),
    2: ("Not good.", "I expected more.", "Sadly a letdown."),
    3: ("It is okay.", "Neither good nor bad.", "A mixed bag."),
    4: ("Really good.", "I liked this a lot.", "A pleasant surprise."),
    5: ("Absolutely wonderful!", "I love it!", "One of the best!"),
}
CLOSINGS = {
    1: ("Stay away.", "Never again."),
    2: ("I would not choose it again.", "There are better ones."),
    3: ("Fine if you have no choice.", "Maybe it suits you more than me."),
    4: ("I would recommend it.", "Glad I tried it."),
    5: ("Highly recommended!", "I tell everybody about it."),
}
FIRST_NAMES = (
    "Ada", "Bela", "Chidi", "Dora", "Emre", "Fay", "Goran", "Hana", "Ines", "Jonas", "Kaia", "Luis",
    "Mina", "Noor", "Otto", "Pia", "Quinn", "Rosa", "Sven", "Tara", "Uri", "Vera", "Wim", "Yuki",
)  # fmt: skip
