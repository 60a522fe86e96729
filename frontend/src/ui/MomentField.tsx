import { TextInput } from '@mantine/core'
import { strings } from './strings'

interface Props {
  label: string
  /** RFC 3339; now when absent. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** In the reader's own zone, as the browser's field takes it: "2026-11-20T23:10". */
function local(value: string): string {
  const at = new Date(value)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A moment; empty is now. */
export function MomentField({ label, value, onChange }: Props) {
  return (
    <TextInput
      type="datetime-local"
      size="xs"
      aria-label={strings.emptyIsNow(label)}
      title={strings.emptyIsNow(label)}
      value={value ? local(value) : ''}
      onChange={({ currentTarget: { value: text } }) => onChange(text ? new Date(text).toISOString() : undefined)}
    />
  )
}
