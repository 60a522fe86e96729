import type { RecommendationInput } from '~/api/types'
import { NumberField } from '~/ui/NumberField'
import { strings } from './strings'

type Parameters = NonNullable<RecommendationInput['nomora']>

const FIELDS: { name: keyof Parameters; label: string; published: number; min: number; step?: string }[] = [
  { name: 'p_m', label: strings.pM, published: 105, min: 0 },
  { name: 'p_r', label: strings.pR, published: 110, min: 0 },
  { name: 'gamma', label: strings.gamma, published: 1001, min: 1001 },
  { name: 'omega', label: strings.omega, published: 0, min: 0, step: 'any' },
  { name: 'beta', label: strings.beta, published: 0, min: 0, step: 'any' },
]

/** Fields of the parameters of the published policy. */
export function PublishedParameters() {
  return (
    <>
      {FIELDS.map(({ name, label, published, min, step }) => (
        <NumberField
          key={name}
          name={name}
          label={label}
          min={min}
          step={step}
          defaultValue={published}
          required
          w={200}
        />
      ))}
      <p>{strings.parametersHelp}</p>
    </>
  )
}

/** Return the parameters that the fields of a form hold. */
export function parametersOf(form: FormData): Parameters {
  const value = (name: keyof Parameters) => Number(form.get(name))
  return { p_m: value('p_m'), p_r: value('p_r'), gamma: value('gamma'), omega: value('omega'), beta: value('beta') }
}
