"""The journal of calls that change something: what began, and what came of it.

Before such a call is made the journal says so, and afterwards what it returned. When a process is
killed in between, the next one finds "begun" and nothing else. A tool that may be called again
then is, under the same key; one that may not is left alone, and a human is told.
"""

from dataclasses import replace

from hansei.nodes.effects import Body, RunTool, ToolReply, ask_recall, ask_remember, ask_tool
from hansei.nodes.tool_arguments import is_refused
from hansei.policies.effect_keys import JournalEntry, read_entry
from hansei.policies.stored_text import storable


def journaled(run: RunTool, *, args: str, once: bool) -> Body[ToolReply]:
    """Make a call at most once, or again only where that does no harm.

    Args:
        run: The call, with its key.
        args: Its canonical arguments, for whoever reads the journal.
        once: It must not be made again when nobody knows whether it went through.
    """
    found = read_entry((yield from ask_recall(run.key, shelf="journal")))
    if found is not None and found.stage == "done":
        return ToolReply(output=found.output, raised=found.raised)
    if found is not None and once:
        return ToolReply(output="", unknown=True)
    shown = f"{run.tool.name} {args}"
    entry = JournalEntry(tool=run.tool.name, args=args)
    yield from ask_remember(run.key, entry.model_dump_json(), shelf="journal")
    refused = is_refused(run.tool, run.call.args)
    reply = yield from ask_tool(run)
    # A tool's own work may break on a model of pydantic's too: only arguments that do not fit by
    # themselves have kept it from beginning.
    misfit = refused and reply.raised and (reply.misfit or bool(run.tool.handle_validation_error))
    reply = replace(reply, output=storable(reply.output), misfit=misfit)
    if found is not None and (reply.refused or reply.misfit):
        # Not this time; the time before it may have gone through.
        return ToolReply(output="", unknown=True)
    if reply.refused or reply.misfit:
        # It was never started, so there is nothing to remember it by.
        yield from ask_remember(run.key, "", shelf="journal")
        return reply
    done = entry.model_copy(
        update={"stage": "done", "output": reply.output, "raised": reply.raised}
    )
    yield from ask_remember(run.key, done.model_dump_json(), shelf="journal", made=shown)
    return reply
