import type { RateLimiter } from "../../../customers/quota/rate-limiter.ts"
import type { SignInTools } from "../../../customers/sign-in/sign-in.ts"
import type { SignInMails } from "../../../customers/sign-in/sign-in-mails.ts"
import { listTerms } from "../../../customers/terms/terms.ts"
import { queryOf } from "../../query.ts"
import type { Assets } from "../assets.ts"
import type { Cookies } from "../cookies.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances } from "../signed-in.ts"
import { ownPage } from "./own-page.ts"
import { type SignInLimits, signInLimits } from "./sign-in-limits.ts"
import type { SignInPageProps } from "./sign-in-page.tsx"

/** What the pages of the sign-in are built from. */
export type SignInRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly cookies: Cookies
  readonly files: Assets
  readonly baseUrl: () => string
  /** Who signs in has no key. */
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly signIn: SignInTools & { readonly mails: Pick<SignInMails, "send" | "isLogged"> }
}

/** The same, and what all of these pages have in common. */
export type SignInParts = SignInRoutesNeeds & {
  readonly limits: SignInLimits
  readonly common: (next: string) => Promise<SignInPageProps>
}

/** Builds what all pages of the sign-in have in common. */
export function signInParts(needs: SignInRoutesNeeds): SignInParts {
  const { files, signIn, keyless, clientOf } = needs
  return {
    ...needs,
    limits: signInLimits(keyless, clientOf),
    common: async next => ({
      next,
      terms: (await listTerms(signIn.store))[0] ?? null,
      scripts: [await files.path("once.js")],
    }),
  }
}

/** The page that somebody gets to by signing in, from the URL of a page of the sign-in. */
export const nextIn = (request: Request): string => ownPage(queryOf(request.url).get("next") ?? "")
