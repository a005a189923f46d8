/** The client is imported as text, so that the executable carries it. */
declare module "*.py" {
  const text: string
  export = text
}
