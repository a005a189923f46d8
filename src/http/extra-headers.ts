/** Headers that an answer has beside those of every answer. */
export type Extra = {
  /** The value of `RateLimit-Policy`; null: nothing limits the caller. */
  readonly policy: string | null
  /** What was left of that, the value of `RateLimit`. */
  readonly state: string
  /** That terms changed, that a page of another origin may read it; null: neither. */
  readonly more: Readonly<Record<string, string>> | null
}

/** All of them by name. */
export function namedHeaders({ policy, state, more }: Extra): Readonly<Record<string, string>> {
  return { ...more, ...(policy === null ? {} : { "RateLimit-Policy": policy, RateLimit: state }) }
}

/**
 * What the refusal of a request has to carry, kept beside the request. It is written only when something is refused: an
 * answer that is given takes its headers along.
 */
export class ExtraHeaders {
  readonly #of = new WeakMap<Request, Extra>()

  /** Keeps the headers for the request, in place of those before. */
  set(request: Request, extra: Extra): void {
    this.#of.set(request, extra)
  }

  /** The headers that were kept for the request, by name; undefined: none. */
  of(request: Request): Readonly<Record<string, string>> | undefined {
    const extra = this.#of.get(request)
    return extra === undefined ? undefined : namedHeaders(extra)
  }
}
