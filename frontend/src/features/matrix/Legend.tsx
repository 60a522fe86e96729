import { Button, Popover } from '@mantine/core'
import { type FormEvent, useDeferredValue, useMemo, useState } from 'react'
import type { Shown } from '~/api/measurements'
import { ColourBar } from '~/charts/heatmap/ColourBar'
import { type Cell, countLooks, type Grid, LOOK } from '~/charts/heatmap/grid'
import { HATCHES, type Hatch } from '~/charts/heatmap/hatch'
import { dimmed, QUIET, type Theme } from '~/charts/heatmap/palette'
import { Swatch } from '~/charts/heatmap/Swatch'
import { type Domain, position as placeOf, ticks } from '~/charts/heatmap/scale'
import { ASYMMETRY_ZERO, type Coding } from '~/lib/codes'
import { facts, tickLabels } from '~/lib/metrics'
import { formatCount, formatRatio } from '~/lib/units'
import { NumberField } from '~/ui/NumberField'
import type { Part } from './axes'
import styles from './matrix.module.css'
import { ramp } from './metrics'
import { STATE_FACTS } from './states'
import { strings } from './strings'
import { LOSSY, matrixTitle } from './useMatrix'
import { type Position, useActive } from './usePosition'

interface Props {
  shown: Shown
  coding: Coding
  grid: Grid
  domain: Domain
  isFixed: boolean
  theme: Theme
  position: Position
  part: Part
  value: (cell: Cell) => number | null
  pooled: number
  /** The number of cells with the mark of loss. */
  lossy?: number
  onScale: (scale: string) => void
}

const SCALE_NAMES = { log: strings.logScale, linear: strings.linearScale, symmetric: strings.symmetricScale }

/** Return whether a look is part of the legend. Some are only if they occur. */
function occurs(hatch: Hatch, coding: Coding, count: number): boolean {
  if (hatch === LOOK.ruled) return coding === 'deviation'
  return (hatch !== LOOK.flecked && hatch !== LOOK.barred && hatch !== LOOK.ringed) || count > 0
}

/** The colour scale, and the looks of missing and earlier values. */
export function Legend(props: Props) {
  const { coding, grid, theme, part, pooled, lossy = 0 } = props
  const { isClocked } = facts(coding)
  // After the picture, which is looked at first.
  const counted = useDeferredValue(grid)
  const counts = useMemo(() => countLooks(counted), [counted])
  const usual = useMemo(
    () => (coding === 'deviation' ? counted.codes.filter((code) => code === ASYMMETRY_ZERO).length : 0),
    [coding, counted],
  )
  const colours = ramp(coding, theme)
  const [red, green, blue] = dimmed(colours(0.7), theme)
  return (
    <section className={styles.legend} aria-label={strings.legend}>
      <Scale {...props} />
      <ul className={styles.looks}>
        {HATCHES.filter((hatch) => occurs(hatch, coding, counts[hatch])).map((hatch) => (
          <li key={hatch} title={STATE_FACTS[hatch].about}>
            <Swatch hatch={hatch} theme={theme} under={colours(0.5)} />
            {STATE_FACTS[hatch].name}
            <span className={styles.count}>{formatCount(counts[hatch])}</span>
          </li>
        ))}
        {isClocked && grid.faint && (
          <li title={strings.withinClockErrorHint}>
            <span className={styles.faint} style={{ background: `rgb(${red} ${green} ${blue})` }} />
            {strings.withinClockError}
            <span className={styles.count}>{formatCount(counts.faint)}</span>
          </li>
        )}
        {coding === 'deviation' && (
          <li title={strings.usualHint}>
            <span className={styles.faint} style={{ background: `rgb(${QUIET[theme].join(' ')})` }} />
            {strings.usual}
            <span className={styles.count}>{formatCount(usual)}</span>
          </li>
        )}
        {lossy > 0 && (
          <li>
            <span className={styles.lossy} />
            {strings.lossyKey(formatRatio(LOSSY))}
            <span className={styles.count}>{formatCount(lossy)}</span>
          </li>
        )}
        {coding === 'loss' && (
          <li>
            <span className={styles.faint} style={{ background: `rgb(${QUIET[theme].join(' ')})` }} />
            {strings.noLoss}
          </li>
        )}
        {grid.codes.length > 0 && counts[LOOK.plain] === 0 && <li>{strings.noFreshValue}</li>}
        {part.rows.some(({ isClosed }) => isClosed) && <li>{strings.collapsedLegend}</li>}
        {pooled > 1 && <li>{strings.pooled(pooled * pooled)}</li>}
      </ul>
    </section>
  )
}

/** The colour scale; a marker shows the value under the pointer or the cursor. */
function Scale({ shown, coding, domain, isFixed, theme, position, part, value, onScale }: Props) {
  const { scale, format } = facts(coding)
  const values = ticks(scale, domain, 7)
  const { unit, labels } = tickLabels(coding, values)
  const active = useActive(position, part)
  const marked = active && value(active)
  return (
    <div className={styles.scale}>
      <p className={styles.scaleTitle}>
        <strong>{matrixTitle(shown)}</strong>
        <span>
          {unit}, {SCALE_NAMES[scale]}
          {isFixed ? strings.fixed : strings.percentileRange}
        </span>
        <ScaleEditor metric={coding} domain={domain} isFixed={isFixed} onScale={onScale} />
        <span className={styles.marked}>{marked !== null && format(marked)}</span>
      </p>
      <ColourBar
        ramp={ramp(coding, theme)}
        ticks={values.map((value, i) => ({ at: placeOf(scale, domain, value), label: labels[i] as string }))}
        marker={marked === null ? null : { at: placeOf(scale, domain, marked), label: format(marked) }}
      />
    </div>
  )
}

/** Ends of the colour scale, chosen by a person and kept in the URL. */
function ScaleEditor(props: { metric: Coding; domain: Domain; isFixed: boolean; onScale: (scale: string) => void }) {
  const { metric, domain, isFixed, onScale } = props
  const [opened, setOpened] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const isLoss = metric === 'loss' || metric === 'loss_difference'
  const factor = isLoss ? 0.01 : metric === 'percent' ? 1 : 1_000
  const unit = factor === 1_000 ? 'µs' : '%'

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [low, high] = [Number(form.get('low')), Number(form.get('high'))]
    setWrong(low < high ? undefined : strings.fromBelowTo)
    if (low >= high) return
    onScale(`${low * factor},${high * factor}`)
    setOpened(false)
  }

  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="subtle" size="compact-xs" onClick={() => setOpened(!opened)}>
          {strings.scaleEllipsis}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form className={styles.scaleForm} onSubmit={submit}>
          <NumberField
            name="low"
            label={strings.fromUnit(unit)}
            size="xs"
            w={96}
            step="any"
            required
            withAsterisk={false}
            error={wrong}
            defaultValue={domain.low / factor}
          />
          <NumberField
            name="high"
            label={strings.toUnit(unit)}
            size="xs"
            w={96}
            step="any"
            required
            withAsterisk={false}
            defaultValue={domain.high / factor}
          />
          <Button type="submit">{strings.useRange}</Button>
          <Button
            variant="default"
            disabled={!isFixed}
            onClick={() => {
              onScale('')
              setOpened(false)
            }}
          >
            {strings.automatic}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
