import { useComputedColorScheme } from '@mantine/core'
import type { Incident } from '~/api/incidents'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { formatDelay, formatSignedDelay } from '~/lib/units'
import { strings } from '../strings'
import { UNUSUAL_NS } from './impactWords'
import styles from './incidents.module.css'

/** The change between zones, or between the VMs of one zone; what changed at least half as much as the worst is marked. */
export function Where({ picture }: { picture: NonNullable<Incident['figures']['picture']> }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { by, names, unit, is_change: isChange, of } = picture
  const isLoss = unit === 'ratio'
  // Loss is coloured in percent: the scale of the grid begins at one.
  const values = picture.values.map((line) => line.map((value) => (isLoss && value !== null ? value * 100 : value)))
  const least = isLoss ? 1 : UNUSUAL_NS
  const worst = Math.max(0, ...values.flat().map((value) => value ?? 0))
  const inWords = (value: number | null | undefined) => {
    if (value === null || value === undefined) return strings.unknown
    if (isLoss) return strings.percentLost(value.toFixed(1))
    return isChange ? strings.fromUsual(formatSignedDelay(value)) : formatDelay(value)
  }
  const caption = strings.whereCaption(by, names.length, of)
  return (
    <figure className={styles.where}>
      <figcaption>{caption}</figcaption>
      <TripsGrid
        label={strings.whereSummary(caption, names.join(', '), inWords(worst))}
        names={names}
        values={values}
        range={[least, Math.max(2 * least, worst)]}
        theme={theme}
        diverges={isChange || isLoss}
        describe={(row, column) => `${names[row]} → ${names[column]}: ${inWords(values[row]?.[column])}`}
        marked={(row, column) => (values[row]?.[column] ?? 0) >= Math.max(least, worst / 2)}
      />
    </figure>
  )
}
