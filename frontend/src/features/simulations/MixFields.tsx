import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { curvesQuery } from '~/api/curves'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import type { Share } from './mix'
import styles from './simulations.module.css'
import { strings } from './strings'

interface Props {
  mix: readonly Share[]
  onChange: (mix: Share[]) => void
  /** What is wrong with the mix as a whole. */
  error: string | undefined
}

/** Shares of curves among the jobs: published ones and the tenant's. */
export function MixFields({ mix, onChange, error }: Props) {
  const curves = useQuery(curvesQuery)
  const named = new Map((curves.data ?? []).map(({ id, name }) => [id, name]))
  // Before the curves are loaded, the chosen ones have their ids.
  const options = [...new Set([...named.keys(), ...mix.map(({ curve }) => curve)])].map((id) => ({
    value: id,
    label: named.get(id) ?? id,
  }))
  const free = options.find(({ value }) => mix.every(({ curve }) => curve !== value))
  const change = (at: number, part: Partial<Share>) =>
    onChange(mix.map((share, n) => (n === at ? { ...share, ...part } : share)))
  return (
    <fieldset className={styles.mix} aria-label={strings.mix}>
      {mix.map(({ curve, weight }, n) => (
        <div key={curve} className={pageStyles.form}>
          <Choice
            label={strings.curveOf(n + 1)}
            data={options.map((option) => ({
              ...option,
              disabled: option.value !== curve && mix.some((share) => share.curve === option.value),
            }))}
            value={curve}
            onChange={(value) => change(n, { curve: value })}
            w={260}
          />
          <NumberField
            label={strings.shareOf(n + 1)}
            min={0}
            step="any"
            value={weight}
            onChange={({ currentTarget }) => change(n, { weight: currentTarget.value })}
            required
            error={n === 0 ? error : undefined}
            w={120}
          />
          {mix.length > 1 && (
            <Button variant="default" onClick={() => onChange(mix.filter((_, at) => at !== n))}>
              {strings.removeCurve(n + 1)}
            </Button>
          )}
        </div>
      ))}
      <div className={pageStyles.form}>
        {free ? (
          <Button variant="default" onClick={() => onChange([...mix, { curve: free.value, weight: '25' }])}>
            {strings.addCurve}
          </Button>
        ) : (
          <p className={pageStyles.lead}>{strings.everyCurve}</p>
        )}
      </div>
      <p className={pageStyles.lead}>{strings.mixLead}</p>
    </fieldset>
  )
}
