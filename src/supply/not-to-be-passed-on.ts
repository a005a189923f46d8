/** A checkout from which nothing may be passed on as it is: each fault is a sentence. */
export class NotToBePassedOn extends Error {
  override readonly name = "NotToBePassedOn"
  constructor(faults: readonly string[]) {
    super(["this checkout cannot be passed on:", ...faults].join("\n  "))
  }
}
