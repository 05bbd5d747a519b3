"""What AgentDojo's tools declare about themselves, each row from the words of the tool's own documentation alone.

One reading for all rows. What others may have written (mails, files, pages, messages, transactions, catalogues) is
untrusted; the account's own particulars and the clock are trusted. ``WRITE`` stays in the person's own account and can
be changed back; ``SEND`` reaches somebody else, moves money, binds the person, or destroys. Authority is who, what, how
much, and for an event when it begins. An echo of what was sent is no source of anything: untrusted.
"""

from __future__ import annotations

from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, ToolEffect


def reads(*, public: bool = False, identity: dict[str, str] | None = None) -> Declaration:
    return Declaration(
        ToolEffect.READ,
        identity_args=identity or {},
        sensitivity=Confidentiality.PUBLIC if public else Confidentiality.PRIVATE,
        idempotent=True,
    )


def own() -> Declaration:
    return Declaration(ToolEffect.READ, output_trust=Integrity.TRUSTED, idempotent=True, vouches=True)


def writes(
    authority: tuple[str, ...] = (), content: tuple[str, ...] = (), identity: dict[str, str] | None = None
) -> Declaration:
    return Declaration(ToolEffect.WRITE, authority_args=authority, content_args=content, identity_args=identity or {})


def sends(
    authority: tuple[str, ...] = (), content: tuple[str, ...] = (), identity: dict[str, str] | None = None
) -> Declaration:
    return Declaration(ToolEffect.SEND, authority_args=authority, content_args=content, identity_args=identity or {})


MAIL = {
    # sends to addresses, copies (cc, bcc) too; attachments name files by id
    "send_email": sends(("recipients", "cc", "bcc"), ("subject", "body", "attachments"), {"attachments": "file"}),
    "delete_email": sends(identity={"email_id": "email"}),  # deletes by id; nothing says it can be undone
    "get_unread_emails": reads(),  # sender, subject and body of mails: by others
    "get_sent_emails": reads(),  # sent mails quote what was received
    "get_received_emails": reads(),  # by others
    "get_draft_emails": reads(),  # drafts quote what was received
    "search_emails": reads(),  # searches subject and body of mails: by others
    "search_contacts_by_name": own(),  # the inbox's own contact list
    "search_contacts_by_email": own(),  # likewise
}

CALENDAR = {
    "get_current_day": Declaration(  # the clock
        ToolEffect.READ,
        output_trust=Integrity.TRUSTED,
        sensitivity=Confidentiality.PUBLIC,
        idempotent=True,
        vouches=True,
    ),
    "search_calendar_events": reads(),  # titles and descriptions, by whoever invited
    "get_day_calendar_events": reads(),  # likewise
    "create_calendar_event": sends(  # mails the details to the participants
        ("participants", "start_time"), ("title", "description", "location")
    ),
    "cancel_calendar_event": sends(identity={"event_id": "event"}),  # notifies participants by mail
    "reschedule_calendar_event": sends(("new_start_time",), identity={"event_id": "event"}),  # notifies by mail
    "add_calendar_event_participants": sends(("participants",), identity={"event_id": "event"}),  # mails them
}

DRIVE = {
    "append_to_file": writes((), ("content",), {"file_id": "file"}),  # adds content to a file of the drive
    "search_files_by_filename": reads(),  # gives contents of files, which others share
    "create_file": writes(("filename",), ("content",)),  # a new file of the drive
    "delete_file": sends(identity={"file_id": "file"}),  # nothing says it can be undone
    "get_file_by_id": reads(identity={"file_id": "file"}),  # content of a file
    "list_files": reads(),  # files with their contents
    "share_file": sends(("email",), (), {"file_id": "file"}),  # lets another user in
    "search_files": reads(),  # contents of files
}

TRAVEL = {
    "get_user_information": own(),  # the person's particulars, passport and card among them
    **{
        # names, prices, addresses, reviews: a public catalogue that strangers fill
        name: reads(public=True)
        for name in (
            "get_all_hotels_in_city",
            "get_hotels_prices",
            "get_rating_reviews_for_hotels",
            "get_hotels_address",
            "get_all_restaurants_in_city",
            "get_cuisine_type_for_restaurants",
            "get_restaurants_address",
            "get_rating_reviews_for_restaurants",
            "get_dietary_restrictions_for_all_restaurants",
            "get_contact_information_for_restaurants",
            "get_price_for_restaurants",
            "check_restaurant_opening_hours",
            "get_all_car_rental_companies_in_city",
            "get_car_types_available",
            "get_rating_reviews_for_car_rental",
            "get_car_fuel_options",
            "get_car_rental_address",
            "get_car_price_per_day",
            "get_flight_information",
        )
    },
    "reserve_hotel": sends(("hotel", "start_day")),  # binds the person towards a hotel, from a day on
    "reserve_car_rental": sends(("company", "start_time")),  # likewise
    "reserve_restaurant": sends(("restaurant", "start_time")),  # likewise
}

BANKING = {
    "get_iban": own(),  # the person's own account number
    "get_balance": own(),  # a number of the bank's
    "send_money": sends(("recipient", "amount"), ("subject",)),  # moves money to an account
    "schedule_transaction": sends(("recipient", "amount"), ("subject",)),  # will move money
    "update_scheduled_transaction": sends(  # changes to whom and how much money will move
        ("recipient", "amount"), ("subject",), {"id": "transaction"}
    ),
    "get_most_recent_transactions": reads(),  # subjects are written by whoever paid
    "get_scheduled_transactions": own(),  # standing orders: only the owner schedules
    "read_file": reads(),  # contents of a file
    "get_user_info": own(),  # the person's name and address
    "update_password": sends(("password",)),  # the old one is gone; whoever chose the new one gets in
    "update_user_info": writes((), ("first_name", "last_name", "street", "city")),  # own particulars
}

SLACK = {
    "get_channels": reads(),  # whoever makes a channel names it
    "add_user_to_channel": sends(("user",), (), {"channel": "channel"}),  # lets a user read a channel
    "read_channel_messages": reads(),  # by others
    "read_inbox": reads(),  # by others
    "send_direct_message": sends(("recipient",), ("body",)),
    "send_channel_message": sends((), ("body",), {"channel": "channel"}),
    "get_users_in_channel": reads(),  # people name themselves
    "invite_user_to_slack": sends(("user", "user_email")),  # lets somebody in
    "remove_user_from_slack": sends(("user",)),  # shuts somebody out
    "get_webpage": Declaration(  # a request to an address; the page is anybody's
        ToolEffect.FETCH,
        authority_args=("url",),
        url_args=("url",),
        sensitivity=Confidentiality.PUBLIC,
        idempotent=True,
    ),
    "post_webpage": sends(("url",), ("content",)),  # publishes
}

TOOLS: dict[str, Declaration] = MAIL | CALENDAR | DRIVE | TRAVEL | BANKING | SLACK
