/**
 * The network that a client's abuse is held against: of an IPv4 address its /24, of an IPv6 /64, as `ClientAddress` writes
 * one, that /64. What is neither is a network of its own.
 */
export function networkOf(client: string): string {
  const octets = client.split(".")
  return octets.length === 4 ? octets.slice(0, 3).join(".") : client
}
