import { MultiSelect } from '@mantine/core'
import { named } from '~/lib/options'

interface Props {
  label: string
  /** What no choice means: "All meshes". */
  all: string
  meshes: readonly { id: string; name: string }[]
  value: string[]
  onChange: (ids: string[]) => void
  error?: string | undefined
  width?: number
}

/** Choose meshes by name; without a choice it is all of them. */
export function MeshChoice({ label, all, meshes, value, onChange, error, width }: Props) {
  return (
    <MultiSelect
      label={label}
      placeholder={value.length === 0 ? all : ''}
      data={named(meshes)}
      value={value}
      error={error}
      searchable
      clearable
      limit={100}
      onChange={onChange}
      {...(width === undefined ? {} : { w: width })}
    />
  )
}

/** Return the chosen meshes as the API takes them: null for all. */
export const limitOf = (ids: readonly string[]) => (ids.length === 0 ? null : [...ids])
