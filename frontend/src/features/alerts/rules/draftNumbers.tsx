import type { ComponentProps } from 'react'
import { NumberField } from '~/ui/NumberField'
import type { Draft, PartProps } from './draft'

type NumberKey = { [Key in keyof Draft]: Draft[Key] extends string ? Key : never }[keyof Draft]

/** Return the field of a number of a rule; `at` is its place in the request, for the reason of a refusal. */
export const draftNumbers = ({ draft, patch, wrong }: PartProps) =>
  function number(key: NumberKey, at: string, more: ComponentProps<typeof NumberField>) {
    return (
      <NumberField
        min={0}
        required
        value={draft[key]}
        onChange={(event) => patch({ [key]: event.currentTarget.value })}
        error={wrong(at)}
        {...more}
      />
    )
  }
