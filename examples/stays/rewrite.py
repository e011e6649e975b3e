import json
import sys

stay = json.load(sys.stdin)
discount = min(5 * (stay["nights"] // 7), 20)
euros = stay["nights"] * (80 + 12 * stay["breakfast"]) * (100 - discount) / 100
print(json.dumps({"euros": euros, "discount": discount}))
