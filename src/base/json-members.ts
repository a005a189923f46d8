/** The members of an object as JSON, without the braces around them. */
export const jsonMembers = (members: object): string => JSON.stringify(members).slice(1, -1)
