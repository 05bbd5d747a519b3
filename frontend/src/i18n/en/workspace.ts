import { define } from "@/i18n";

export const t = define("workspace", {
  tokens: "Tokens",
  money: "Money",
  usedOf: "{used} of {limit}",
  usedNoLimit: "{used}, no limit",
  spent: "Spent: nothing more is asked of a model",
  nearlySpent: "Nearly spent",
  reserved: "{amount} more held for the request under way",
  priceUnknown: "Some prices are unknown, so it is at least this",
  turnsLeft:
    "{count, plural, =0 {Not enough for another turn} one {Enough for about # turn} other {Enough for about # turns}}.",
  stepsLeft:
    "{count, plural, =0 {Not enough for another step} one {Enough for about # step} other {Enough for about # steps}}.",
  paceTurns: "{count, plural, one {The last turn} other {The last # turns}} took {each}.",
  paceSteps: "{count, plural, one {The last step} other {The last # steps}} took {each}.",
  eachTokens: "{tokens} tokens each",
  eachBoth: "{tokens} tokens, {money} each",
  minutesLeft:
    "At the pace since it began, this lasts {count, plural, one {another minute} other {another # minutes}}.",
  hoursLeft: "At the pace since it began, this lasts {count, plural, one {another hour} other {another # hours}}.",
});
