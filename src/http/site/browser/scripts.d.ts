/** The scripts of every page are imported as text, so that their paths are known without reading a file. */
declare module "*/browser/site.js" {
  const text: string
  export = text
}
declare module "*/browser/theme.js" {
  const text: string
  export = text
}
