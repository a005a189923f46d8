import type { Validators } from "../../base/web.ts"

/** RFC 9110 §8.8.3, without the octets beyond ASCII: they do not come back from a header as they went in. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/
/** RFC 9110 §5.6.7, the form that servers must write. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The validators of an answer. */
export function validatorsOf(headers: Headers): Validators {
  return wellFormed({ etag: headers.get("etag"), lastModified: headers.get("last-modified") })
}

/** The headers that ask for what is newer than `known` (RFC 9110 §13.1.2, §13.1.3); none when nothing is known. */
export function conditionsOf(known: Validators | null): Readonly<Record<string, string>> {
  const { etag, lastModified } = wellFormed(known ?? { etag: null, lastModified: null })
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(lastModified === null ? {} : { "if-modified-since": lastModified }),
  }
}

/** A validator of another form would be misread, or would make a header that cannot be sent. */
const wellFormed = ({ etag, lastModified }: Validators): Validators => ({
  etag: etag !== null && ENTITY_TAG.test(etag) ? etag : null,
  lastModified: lastModified !== null && HTTP_DATE.test(lastModified) ? lastModified : null,
})
