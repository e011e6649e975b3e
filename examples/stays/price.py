import json
import sys

DISCOUNTS = {0: 0, 1: 5, 2: 10, 3: 15}

stay = json.load(sys.stdin)
discount = DISCOUNTS.get(stay["nights"] // 7)
euros = stay["nights"] * (80 + 12 * stay["breakfast"]) * (100 - (discount or 0)) / 100
print(json.dumps({"euros": euros, "discount": discount}))
