/** The pages are imported as text, so that the executable carries them. */
declare module "*.md" {
  const text: string
  export = text
}
