import type { Category } from "../../src/contract/categories.ts"
import { type Figure, figure } from "../report/report.ts"
import type { Answers } from "./answers.ts"
import { CLAIMANT_NAMES, CLAIMANTS, type Claim, deepSuggestions } from "./peers.ts"
import type { Sample } from "./sample.ts"

/** Ours beside what people use today, for each category that one of them tells: what is seen, and what is claimed wrongly. */
export async function claimFigures(answers: Answers): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const category of new Set(CLAIMANT_NAMES.map(name => CLAIMANTS[name].category))) {
    figures.push(...(await claimsOf("mailkind", category, ourClaim(answers, category), answers)))
    for (const name of CLAIMANT_NAMES) {
      if (CLAIMANTS[name].category !== category) continue
      figures.push(...(await claimsOf(name, category, await CLAIMANTS[name].load(), answers)))
    }
  }
  return figures
}

/** What we answered of the same names. */
function ourClaim({ labelled, traps }: Answers, category: Category): Claim {
  const claimed = new Set(
    [...labelled, ...traps].filter(({ answered }) => answered === category).map(({ text }) => text),
  )
  return domain => claimed.has(domain)
}

/** Everybody is asked about names that are some, and whose category somebody knows. */
async function claimsOf(who: string, category: Category, claim: Claim, answers: Answers): Promise<readonly Figure[]> {
  const names = answers.labelled.filter(({ label }) => label !== "invalid")
  const ours = names.filter(({ label }) => label === category)
  const others = names.filter(({ label }) => label !== category)
  const traps = answers.traps.filter(({ label }) => label !== category && label !== "invalid")
  const seen = await countOf(ours, claim)
  return [
    figure(`${category} by ${who}: seen`, `(${seen} of ${ours.length})`, seen / ours.length),
    figure(`${category} by ${who}: claimed wrongly`, `of ${others.length} others`, await countOf(others, claim)),
    figure(`${category} by ${who}: traps fallen into`, `of ${traps.length}`, await countOf(traps, claim)),
  ]
}

async function countOf(names: readonly { readonly text: string }[], claim: Claim): Promise<number> {
  const claims = await Promise.all(names.map(({ text }) => claim(text)))
  return claims.filter(isClaimed => isClaimed).length
}

/** What `deep-email-validator` offers for the mistyped domains, and for those that are none. */
export async function suggestionFigures(answers: Answers, { kept }: Sample): Promise<readonly Figure[]> {
  const suggest = await deepSuggestions()
  const offers = await Promise.all(
    answers.typos.map(async ({ text, meant }) => ({ meant, offered: await suggest(text) })),
  )
  const right = offers.filter(({ meant, offered }) => meant === offered).length
  const nothing = offers.filter(({ offered }) => offered === null).length
  const corrected = (await Promise.all(kept.map(suggest))).filter(offered => offered !== null).length
  const who = "by deep-email-validator"
  return [
    figure(`typos ${who}: right suggestion`, `(${right} of ${offers.length})`, right / offers.length),
    figure(`typos ${who}: wrong suggestion`, `of ${offers.length}`, offers.length - right - nothing),
    figure(`typos ${who}: no suggestion`, `of ${offers.length}`, nothing),
    figure(`no typos ${who}: corrected`, `of ${kept.length}`, corrected),
  ]
}
