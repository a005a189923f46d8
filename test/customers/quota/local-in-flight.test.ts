import { LocalInFlight } from "../../../src/customers/quota/local-in-flight.ts"
import { inFlightSuite } from "./in-flight.suite.ts"

inFlightSuite(() => new LocalInFlight())
