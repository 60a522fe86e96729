/** Return a phrase as the beginning of a sentence: its first letter is a capital one. */
export const sentenceCase = (phrase: string): string => phrase.charAt(0).toUpperCase() + phrase.slice(1)
