/** Return a phrase as the beginning of a sentence: its first letter is a capital one. */
export const sentenceCase = (phrase: string): string => phrase.charAt(0).toUpperCase() + phrase.slice(1)

/** Return an agent's message as a sentence of its own: the agent writes its log in lower case, without a full stop. */
export function sentenceOf(message: string): string {
  const text = message.slice(0, 1).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
