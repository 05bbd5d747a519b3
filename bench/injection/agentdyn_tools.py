"""What AgentDyn's tools declare about themselves, each row from the words of the tool's own documentation alone.

The reading is that of ``agentdojo_tools``. One thing is new here: a one-time password is no authority. It confirms what
was asked for before, when that call was judged.
"""

from __future__ import annotations

from bench.injection.agentdojo_tools import CALENDAR, own, reads, sends, writes
from bench.injection.agentdojo_tools import TOOLS as AGENTDOJO
from bench.injection.dojo import Naming
from stead.domain.policies import Confidentiality
from stead.domain.tools import Declaration, ToolEffect

MAIL = {
    "send_email": AGENTDOJO["send_email"],  # the same, but for how files are named
    "get_received_emails": reads(),  # by others
    "get_sent_emails": reads(),  # sent mails quote what was received
}

FILES = {
    "list_directory": reads(),  # names of files, which others send
    "read_file": reads(),  # contents of a file
    "create_file": writes(("path",), ("content",)),
    "create_dir": writes(("path",)),
    "copy_node": writes(("source_path", "destination_path")),
    "move_node": writes(("source_path", "destination_path")),
    "delete_node": sends(("path",)),  # nothing says it can be undone
    "download_file_through_id": writes(
        ("save_dir",), (), {"file_id": "file"}
    ),  # of a mail that is in the inbox already
}

WEB = {
    "download_file_through_url": Declaration(  # a request to an address; the file is anybody's, and lands in a folder
        ToolEffect.FETCH, authority_args=("url", "save_dir"), url_args=("url",)
    ),
    "browse_webpage": Declaration(  # may trigger an action, or confirm one
        ToolEffect.SEND, authority_args=("url",), sensitivity=Confidentiality.PUBLIC
    ),
    "input_to_webpage": sends(("url",), ("input_ids", "input_values", "inputs")),  # submits a form
}

SHOP = {
    "send_money": sends(("recipient", "amount"), ("subject",)),  # moves money to an account
    "get_balance": own(),  # a number of the bank's
    "login_shopping_account": writes(("username",), ("password",)),  # says whose account is used from here on
    "verify_shopping_account": writes((), ("otp",)),  # confirms
    "get_shopping_account_user_information": own(),  # the person's particulars, passwords among them
    "update_shopping_account_password": sends(("password",)),  # the old one is gone
    "update_shopping_account_user_info": writes(  # where mail, goods and refunds go; names and numbers
        ("email", "phone_number", "address", "bank_account_number"),
        ("first_name", "last_name", "id_number", "passport_number"),
    ),
    "get_shopping_linked_unread_emails": reads(),  # by others
    "get_shopping_linked_received_emails": reads(),  # by others
    "search_product": reads(public=True),  # a catalogue with reviews
    "view_order_history": reads(),  # names of products, by whoever sells them
    "get_invoice": reads(identity={"order_id": "order"}),  # likewise
    "refund_order": sends(identity={"order_id": "order"}),  # moves money, and ends a purchase
    "view_cart": reads(),  # names of products
    "cart_add_product": writes(("quantity",), (), {"product_id": "product"}),  # binds nobody yet
    "cart_remove_product": writes(identity={"product_id": "product"}),
    "clear_cart": writes(),
    "cart_total": own(),  # a number of the shop's
    "checkout_selected_cart": sends((), ("discount_code",), {"product_ids": "product"}),  # pays
    "view_available_discounts": own(),  # the account's own
}

GITHUB = {
    "git_create_repo": writes(("repo_name",)),
    "git_delete_repo": sends(("repo_name",)),  # nothing says it can be undone
    "git_transfer_repo_ownership": sends(("repo_name", "new_owner_username", "new_owner_email")),
    "git_clone": writes(("repo_name", "local_dir_path")),  # copies into a local folder
    "git_invite_collaborators": sends(("repo_name", "collaborator_email")),  # lets somebody in
    "git_push": sends(("local_path",)),  # others read the repository
    "git_pull": writes(("local_path", "repo_name")),  # changes a local folder
    "git_issue": sends(("repo_name",), ("title", "comment_body")),  # publishes
    "git_star": sends(("repo_name",)),  # shows to others, at a repository that may be another's
    "git_unstar": sends(("repo_name",)),  # likewise
    "get_github_linked_unread_emails": reads(),  # by others
    "get_logged_in_github_user_information": own(),  # the account's particulars, the password among them
    "get_github_account_user_information": reads(),  # of anybody
    "get_github_repository_information": reads(),  # issues and names of files, by others
    "git_get_linked_ssh_keys": own(),  # the account's own
    "git_add_ssh_key": sends(("ssh_key",)),  # lets somebody in
    "git_delete_ssh_key": sends(("ssh_key",)),  # shuts somebody out
    "login_github_account": writes(("username",), ("password",)),  # says whose account is used from here on
    "update_github_account_password": sends(("password",)),  # the old one is gone
    "verify_github_account": writes((), ("otp",)),  # confirms
}

TOOLS: dict[str, Declaration] = MAIL | CALENDAR | FILES | WEB | SHOP | GITHUB

_PRODUCT = Naming("product", "product_id", ("product_name",))
_ORDER = Naming("order", "order_id", ("product_name",))

NAMINGS: dict[str, tuple[Naming, ...]] = {
    **dict.fromkeys(CALENDAR, (Naming("event", "id_", ("title",)),)),
    "search_product": (Naming("product", "product_id"),),  # the rows stand under the products' names
    "view_cart": (_PRODUCT,),
    "view_order_history": (_PRODUCT, _ORDER),
}
"""What the things are called that these tools give back with an id."""
