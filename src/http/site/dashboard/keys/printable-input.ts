import { redactAddresses } from "../../../../base/address-redaction.ts"

const ECHOED_LENGTH_MAX = 80

/** Shortens an input for a message, takes addresses out, and replaces invisible characters. */
export const printableInput = (text: string): string => {
  const visible = redactAddresses(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "�"), text.length) ?? ""
  return visible.length > ECHOED_LENGTH_MAX ? `${[...visible].slice(0, ECHOED_LENGTH_MAX).join("")}…` : visible
}
