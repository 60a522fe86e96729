import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Attributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps | keyof ButtonProps> & {
  ref?: Ref<HTMLAnchorElement>
}

/** A link to a page, in text or in a table. */
export const TextLink = createLink((props: AnchorProps & Attributes) => <Anchor size="sm" {...props} />)

/** A link to a page among the words of a sentence. */
export const WordLink = createLink((props: AnchorProps & Attributes) => (
  <Anchor inherit underline="always" {...props} />
))

/** A link to a page that looks like a button. */
export const ButtonLink = createLink((props: ButtonProps & Attributes) => <Button component="a" {...props} />)
