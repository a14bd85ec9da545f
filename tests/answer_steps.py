"""Steps that answers are held against: one that was done, and four that were not."""

from policy_records import FAILED, SKIPPED, VERIFIED, a_step

STOCK = a_step(
    1, VERIFIED, description="Look up the stock of R1", result="R1: 66 pieces are in the shop."
)
LETTER = a_step(2, FAILED, description="Look up the letter", reason="the counter is closed")
PARCEL = a_step(3, FAILED, description="Look up the parcel", reason="the system is syncing")
BILL = a_step(4, SKIPPED, description="Pay the bill", needs=[3], reason="Look up the parcel")
AGAIN = a_step(
    5, FAILED, description="Look up the parcel by phone", reason="no answer", instead_of=[3]
)
TELLS_STOCK = "R1 is in the shop, 66 pieces of it."
