import type { Category } from "../../../contract/categories.ts"

/** What a verdict means to who wants to write to such an address, or to let it sign up. */
export const MEANINGS: { readonly [C in Category]: string } = {
  business:
    "This belongs to an organisation with a domain of its own. You can write to it, and a sign-up with it tells you for whom somebody works.",
  personal:
    "This is a mailbox at a provider that gives one to everybody. You can write to it; it tells you nothing of where somebody works.",
  disposable:
    "This is a throw-away mailbox. It is gone within minutes or days, and often anybody can read it: do not count on reaching anybody there, and send nothing there that is not for everybody.",
  relay:
    "This is an address that forwards to a mailbox which it hides. Your mail arrives for as long as its owner wants it to; who that is, nobody tells.",
  education: "This belongs to a school or a university. You can write to it; most people there leave after some years.",
  government: "This belongs to a public body. You can write to it, and a sign-up with it is an official's.",
  invalid:
    "Nothing can arrive there. If somebody gave it to you, ask for another one, or look for a slip of the keyboard.",
  unknown: "We found nothing that tells what this is. Have somebody answer a mail there before you count on it.",
}
