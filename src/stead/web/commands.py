"""The commands in the table of routes: everything that changes something, each carried out by the runtime.

Layer: a door. What a command means, and whether it may happen, is decided below. A command's ``Idempotency-Key`` goes
with it, so a request that is sent twice is carried out once.
"""

from __future__ import annotations

from typing import Any

from stead.domain import channels, profiles, schedules
from stead.domain import commands as cmd
from stead.domain import directive_commands as directives
from stead.domain import external_agents as external
from stead.domain import mcp_commands as mcp
from stead.domain import memory_commands as memory
from stead.domain import notifications as notify
from stead.domain.bounds import Text
from stead.domain.forget_commands import Forget
from stead.domain.objectives import Budget
from stead.domain.settings_file import ApplySettings
from stead.web.routes import Field, Route, post

_SESSION, _NAME = "$response.body#/session", "$request.body#/name"
_OWN_WORDS = {"foreign": False}
_IN_FULL = {"interrupt": False, **_OWN_WORDS}
_EVERY = {"session": "*"}
_NEW = {"id": "", "version": 0}
_OPENS: dict[str, Any] = {"status": 201, "leads_to": _SESSION}
_OBJECTIVE: dict[str, Any] = {
    "fixed": {"ignore": ()},
    "bounds": {"goal": Field(Text), "budget": Field(Budget, cmd.DEFAULT_BUDGET)},
    "says": "Give a goal. The answer's ``session`` is the new objective.",
}
_INTERACTIVE: dict[str, Any] = {
    "fixed": {"goal": None, "constraints": (), "checks": (), "second_opinion": False},
    "bounds": {"budget": Field(Budget, cmd.SESSION_BUDGET)},
    "says": "Open an interactive session in a folder. The answer's ``session`` is the new one.",
}


OBJECTIVES = (
    post("/objectives", "create_objective", cmd.OpenSession, "NewObjective", **_OPENS, **_OBJECTIVE),
    post("/objectives/{session}/pause", "pause", cmd.Pause),
    post("/objectives/{session}/resume", "resume", cmd.Resume),
    post("/objectives/{session}/cancel", "cancel", cmd.Cancel),
    post("/objectives/{session}/stop", "stop", cmd.Stop, "Why"),
    post("/objectives/{session}/retry", "retry", cmd.Retry, "Again"),
    post("/objectives/{session}/delete", "delete", cmd.Delete, "Deletion"),
    post("/objectives/{session}/messages", "send_message", cmd.SendMessage, "Words", fixed=_IN_FULL),
    post("/objectives/{session}/revoke", "revoke", cmd.Revoke, "ToolName"),
    post("/objectives/{session}/trial/apply", "apply_trial", cmd.ApplyTrial, "Choice", spread="choice"),
    post("/objectives/{session}/trial/discard", "discard_trial", cmd.DiscardTrial),
    post("/stop", "stop_everything", cmd.Stop, "Why", fixed=_EVERY, says="Stop every session at once."),
    post("/approvals/{approval}/decision", "decide", cmd.Decide, "GivenAnswer"),
)
SESSIONS = (
    post("/sessions", "open_session", cmd.OpenSession, "NewSession", **_OPENS, **_INTERACTIVE),
    post("/sessions/{session}/messages", "send_session_message", cmd.SendMessage, "Said", fixed=_OWN_WORDS),
    post("/sessions/{session}/pause", "pause_session", cmd.Pause),
    post("/sessions/{session}/resume", "resume_session", cmd.Resume),
    post("/sessions/{session}/stop", "stop_session", cmd.Stop, "Why"),
    post("/sessions/{session}/close", "close_session", cmd.CloseSession),
    post("/sessions/{session}/delete", "delete_session", cmd.Delete, "Deletion"),
    post("/sessions/{session}/revoke", "revoke_in_session", cmd.Revoke, "ToolName"),
    post("/sessions/{session}/fork", "fork_session", cmd.ForkSession, "Fork", status=201),
    Route("PUT", "/sessions/{session}/plan", "set_plan", cmd.SetPlan, "WantedPlan"),
    Route("PUT", "/sessions/{session}/checks", "set_checks", cmd.SetChecks, "WantedChecks"),
    post("/sessions/{session}/checks/{id:check}", "answer_check", cmd.AnswerCheck, "CheckAnswer"),
    Route("PUT", "/sessions/{session}/labels", "label_session", cmd.LabelSession, "WantedLabels"),
    Route("PUT", "/sessions/{session}/goal", "change_goal", cmd.ChangeGoal, "WantedGoal"),
    Route("PUT", "/sessions/{session}/waiting/{message:seq}", "change_message", cmd.ChangeMessage, "OtherWords"),
    post("/sessions/{session}/budget", "raise_budget", cmd.RaiseBudget, "WantedBudget", spread="budget"),
    post("/sessions/{session}/compact", "compact_context", cmd.Compact),
    post("/sessions/{session}/model", "switch_model", cmd.SwitchModel, "WantedModel"),
    post("/sessions/{session}/profile", "set_profile", cmd.SetProfile, "WantedProfile"),
    post("/sessions/{session}/calls/{call}/edit", "edit_call", cmd.EditCall, "OwnArguments"),
    post("/sessions/{session}/calls/{call}/cancel", "cancel_call", cmd.CancelCall, "CancelReason"),
    post("/sessions/{session}/calls/{call}/retry", "retry_call", cmd.RetryCall),
    post("/sessions/{session}/checkpoints", "take_checkpoint", cmd.TakeCheckpoint, "Note"),
    post(
        "/sessions/{session}/checkpoints/{checkpoint}/restore", "restore_checkpoint", cmd.RestoreCheckpoint, "Restore"
    ),
    post("/sessions/{session}/changes/{call}/undo", "undo_edit", cmd.UndoEdit, "Undo"),
    post("/sessions/{session}/terminals", "open_terminal", cmd.OpenTerminal, "NewTerminal", status=201),
    post("/sessions/{session}/lines", "run_line", cmd.RunLine, "OwnLine", status=201),
    post("/sessions/{session}/terminals/{terminal}/close", "close_terminal", cmd.CloseTerminal),
)
HOME = (
    post("/providers", "configure_provider", cmd.ConfigureProvider, "NewProvider", leads_to=_NAME),
    post("/providers/{provider}/key", "set_provider_key", cmd.SetProviderKey, "ProviderKey"),
    post("/providers/{provider}/models", "configure_model", cmd.ConfigureModel, "WantedSettings"),
    post("/roles", "set_role", cmd.SetRole, "RoleModels"),
    Route("DELETE", "/providers/{provider}", "remove_provider", cmd.RemoveProvider),
    post("/chain", "set_chain", cmd.SetChain, "NewChain"),
    post("/cap", "set_cap", cmd.SetCap, "NewCap"),
    post("/secrets", "add_secret", cmd.AddSecret, "NewSecret", status=201, leads_to=_NAME),
    post("/secrets/{secret}/bindings", "bind_secret", cmd.BindSecret, "NewBinding"),
    post("/secrets/{secret}/unbind", "unbind_secret", cmd.UnbindSecret, "Unbound"),
    Route("DELETE", "/secrets/{secret}", "remove_secret", cmd.RemoveSecret),
    post("/egress/hosts", "allow_host", cmd.AllowHost, "HostToAllow"),
    post("/egress/hosts/remove", "disallow_host", cmd.DisallowHost, "AllowedHost"),
    post("/rules", "add_rule", cmd.AddRule, "Sentence"),
    post("/rules/{id:rule}/confirm", "confirm_rule", cmd.ConfirmRule),
    Route("DELETE", "/rules/{id:rule}", "remove_rule", cmd.RemoveRule),
    post("/web-search", "set_web_search", cmd.SetSearch, "NewSearch"),
    Route("DELETE", "/web-search", "remove_web_search", cmd.RemoveSearch),
    post("/external-agents", "configure_agent", external.ConfigureAgent, "NewExternalAgent", leads_to=_NAME),
    Route("DELETE", "/external-agents/{name:mcp}", "remove_agent", external.RemoveAgent),
    post("/mcp", "configure_mcp", mcp.ConfigureMcp, "NewMcpServer", leads_to=_NAME),
    Route("DELETE", "/mcp/{name:mcp}", "remove_mcp", mcp.RemoveMcp),
    post("/mcp/{name:mcp}/approve", "approve_mcp_tools", mcp.ApproveMcpTools, "ShownTools"),
    post("/mcp/{name:mcp}/tools", "set_mcp_tool", mcp.SetMcpTool, "WantedTool"),
    post("/schedules", "set_schedule", schedules.SetSchedule, "WantedSchedule", spread="schedule", leads_to=_NAME),
    post("/schedules/{name:schedule}/switch", "switch_schedule", schedules.SwitchSchedule, "ScheduleSwitch"),
    post("/schedules/{name:schedule}/run", "run_schedule", schedules.RunSchedule, "RunWanted"),
    post("/schedules/{name:schedule}/snooze", "snooze_schedule", schedules.SnoozeSchedule, "Snooze"),
    Route("DELETE", "/schedules/{name:schedule}", "remove_schedule", schedules.RemoveSchedule),
    post("/notifications", "set_target", notify.SetTarget, "WantedTarget", spread="target", leads_to=_NAME),
    post("/notifications/push", "subscribe_push", notify.SubscribePush, "PushSubscription", leads_to=_NAME),
    post("/notifications/{name:schedule}/switch", "switch_target", notify.SwitchTarget, "TargetSwitch"),
    Route("DELETE", "/notifications/{name:schedule}", "remove_target", notify.RemoveTarget),
    post("/channels", "set_channel", channels.SetChannel, "WantedChannel", spread="channel", leads_to=_NAME),
    post("/channels/{name:schedule}/switch", "switch_channel", channels.SwitchChannel, "ChannelSwitch"),
    Route("DELETE", "/channels/{name:schedule}", "remove_channel", channels.RemoveChannel),
    Route("PUT", "/channels/{channel:schedule}/chats", "set_chat", channels.SetChat, "WantedChat"),
    post("/channels/{channel:schedule}/chats/remove", "remove_chat", channels.RemoveChat, "ChatToRemove"),
    post("/profiles", "set_named_profile", profiles.SetNamedProfile, "NewProfile", spread="profile", leads_to=_NAME),
    Route("DELETE", "/profiles/{name:schedule}", "remove_named_profile", profiles.RemoveNamedProfile),
    post("/settings", "apply_settings", ApplySettings, "SettingsToApply"),
    post("/directives", "write_directive", directives.SetDirective, "NewDirective", fixed=_NEW),
    post("/directives/order", "order_directives", directives.OrderDirectives, "WantedOrder"),
    Route("PUT", "/directives/{id:directive}", "change_directive", directives.SetDirective, "ChangedDirective"),
    post("/directives/{id:directive}/switch", "switch_directive", directives.SwitchDirective, "Switch"),
    Route("DELETE", "/directives/{id:directive}", "remove_directive", directives.RemoveDirective),
    post("/directives/{id:directive}/restore", "restore_directive", directives.RestoreDirective, "OlderVersion"),
)
MEMORY = (
    post("/memories", "remember", memory.Remember, "WantedMemories"),
    post("/memories/mark", "mark_memories", memory.MarkMemories, "WantedMarks"),
    post("/memories/retire", "retire_memories", memory.RetireMemories, "RetiredMemories"),
    post("/memories/restore", "restore_memories", memory.RestoreMemories, "RestoredMemories"),
    post("/memories/import", "import_memories", memory.ImportMemories, "MemoryFile"),
    post("/memories/consolidate", "consolidate_memory", memory.Consolidate),
    post("/memories/runs/{run}/revert", "revert_memory_run", memory.RevertRun),
    post("/memories/proposals/{proposal}", "settle_memory_proposal", memory.SettleProposal, "Settlement"),
    post("/memories/forget", "forget_memories", Forget, "WantedForgotten"),
    Route("PUT", "/memories/{id:memory}", "correct_memory", memory.CorrectMemory, "WantedWords"),
)
COMMANDS = (*OBJECTIVES, *SESSIONS, *HOME, *MEMORY)
"""In this order, since words stand above where an id could."""
