"""What this measurement could not see, each with the command that would show it."""

from collections.abc import Sequence

from ssediag.diagnose.chain import Link
from ssediag.model.diagnosis import Culprit
from ssediag.model.recording import Clock


def not_observable(links: Sequence[Link], culprit: Culprit | None) -> tuple[str, ...]:
    """Sentences for the report's last part; none when nothing was measured at all."""
    if not any(link.judgement.answered for link in links):
        return ()
    said: list[str] = []
    if len(links) == 1 and culprit is not None:
        hop = links[0].judgement.hop.name
        said.append(
            f"One hop alone cannot tell whether {hop} or something behind it does this: "
            "ssediag compare INSTANCE_URL "
            f"{links[0].judgement.hop.target}"
        )
    if len(links) > 1:
        said.append(
            "Runs at different hops are different generations: a hold that is shorter than the "
            "gap between tokens, and the same for every event, does not show."
        )
    if any(run.stream.clock is Clock.USER for link in links for run in link.judgement.runs):
        said.append(
            "Arrivals were dated by this process, not by the kernel: short holds may be its own."
        )
    said.extend(
        f"{link.judgement.hop.name}: {link.judgement.unsure}."
        for link in links
        if link.judgement.unsure
    )
    return tuple(said)
