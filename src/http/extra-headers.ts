/** Headers that an answer has beside those of every answer. */
export type Extra = Readonly<Record<string, string>>

/**
 * What the answer to a request has to carry whatever becomes of it: what was left of its limits, that terms changed, that
 * a page of another origin may read it. It is kept beside the request, so that a refusal carries it too.
 */
export class ExtraHeaders {
  readonly #of = new WeakMap<Request, Extra>()

  /** Keeps the headers for the request, in place of those before. */
  set(request: Request, extra: Extra): void {
    this.#of.set(request, extra)
  }

  /** The headers that were kept for the request; undefined: none. */
  of(request: Request): Extra | undefined {
    return this.#of.get(request)
  }
}
