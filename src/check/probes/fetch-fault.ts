/** Why a guarded fetch has no page, each with what it says of whom. */
export const FETCH_CAUSES = {
  bad_url: "It is no URL that can be asked for, or too long a one.",
  bad_scheme: "It is neither http nor https.",
  has_credentials: "It has a user name or a password.",
  bad_port: "It names a port other than 80 and 443.",
  ip_host: "Its host is an IP address.",
  bad_host: "Its host is no name of the public DNS.",
  no_address: "The name does not exist or has no address.",
  not_public: "One of its addresses is not public.",
  dns_unavailable: "DNS cannot tell its addresses.",
  refused: "The host does not listen.",
  unreachable: "The host is not reached.",
  untrusted: "TLS failed: most often the certificate is not trusted, too old, or of another name.",
  broken_off: "The connection ended before the answer did.",
  not_http: "What came is no answer of HTTP/1.",
  too_long: "The head of the answer, or what frames its body, is longer than is read.",
  bad_coding: "The body is coded in a way that is not read, or wrongly.",
  too_many_redirects: "It leads from one redirect to the next.",
  timed_out: "The answer was not there in time.",
  failed: "It failed in a way that nobody foresaw.",
} as const satisfies Record<string, string>
export type FetchCause = keyof typeof FETCH_CAUSES

/** Ends a fetch, and says why. It is thrown and caught within the fetch. */
export class FetchFault extends Error {
  override readonly name = "FetchFault"
  readonly why: FetchCause

  constructor(why: FetchCause) {
    super(FETCH_CAUSES[why])
    this.why = why
  }
}
