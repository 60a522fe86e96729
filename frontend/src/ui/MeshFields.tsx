import { TextInput } from '@mantine/core'
import { longest } from './CheckedInput'
import { Choice } from './Choice'
import { NumberField } from './NumberField'
import { strings } from './strings'
import { Term } from './Term'

const RATES = [1, 2, 4, 8, 16, 32, 64, 128] as const

interface Props {
  name?: string
  windowS?: number
  rateHz?: number
  /** Error of each field, by its name. */
  problem: (name: string) => string | undefined
}

/** The fields of a mesh, named as the contract names them. */
export function MeshFields({ name, windowS = 10, rateHz = 8, problem }: Props) {
  return (
    <>
      <TextInput
        name="name"
        label={strings.name}
        placeholder={strings.meshNameExample}
        required
        withAsterisk={false}
        {...longest(100)}
        defaultValue={name}
        error={problem('name')}
        w={200}
      />
      <NumberField
        name="window_s"
        label={<Term of="window">{strings.windowSeconds}</Term>}
        min={1}
        max={60}
        required
        withAsterisk={false}
        defaultValue={windowS}
        error={problem('window_s')}
        w={140}
      />
      <Choice
        name="rate_hz"
        label={<Term of="exchange">{strings.exchangesPerSecond}</Term>}
        data={RATES.map(String)}
        defaultValue={String(rateHz)}
        error={problem('rate_hz')}
        w={150}
      />
    </>
  )
}

/** Return the mesh that the fields describe. */
export function meshOf(form: HTMLFormElement): { name: string; window_s: number; rate_hz: (typeof RATES)[number] } {
  const data = new FormData(form)
  const rate = Number(data.get('rate_hz'))
  return {
    name: String(data.get('name')).trim(),
    window_s: Number(data.get('window_s')),
    rate_hz: RATES.find((known) => known === rate) ?? 8,
  }
}
