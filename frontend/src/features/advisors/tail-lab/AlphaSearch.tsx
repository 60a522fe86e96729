import { CurveChart } from '~/charts/curve/CurveChart'
import { formatCount } from '~/lib/units'
import { lineStyle } from '~/ui/lineStyle'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import advisors from '../advisors.module.css'
import { Legend } from '../Legend'
import { ALPHA_AXIS, labelOfPlace, placeOfAlpha, type Search, seconds, showAlpha } from './outcomes'
import { FIGURES, type Figure } from './question'
import { strings } from './strings'

const FLOOR = -100

/** All evaluations of a search of α, as a curve and as a table. */
export function AlphaSearch({ search, objective }: { search: Search; objective: Figure }) {
  const policy = strings.names[search.policy]
  const { best } = search
  const sorted = [...search.evaluations].sort((one, other) => one.alpha - other.alpha)
  const x = sorted.map(({ alpha }) => placeOfAlpha(alpha))
  const values = [
    { label: strings.gainOf(strings.figures[objective]), y: sorted.map(({ gain }) => gain) },
    ...(objective === 'mean' ? [] : [{ label: strings.meanGain, y: sorted.map(({ mean_loss }) => -mean_loss) }]),
  ]
  const lines = values.map(({ label, y }, n) => ({
    key: label,
    label,
    n,
    ...lineStyle(n),
    x,
    y: y.map((value) => Math.max(FLOOR, value)),
  }))
  const all = lines.flatMap(({ y }) => y)
  return (
    <Panel title={`${strings.searches}: ${policy}`}>
      <Notice tone={best.allowed ? 'info' : 'warn'} title={strings.found(policy, showAlpha(best.alpha))}>
        {strings.foundGain(
          strings.figures[objective],
          best.gain.toFixed(1),
          strings.names[search.against],
          best.mean_loss.toFixed(1),
          formatCount(search.evaluations.length),
        )}{' '}
        {!best.allowed && strings.notAllowed}
      </Notice>
      <Legend lines={lines} />
      <CurveChart
        label={strings.curveLabel(policy, strings.figures[objective])}
        height={260}
        lines={lines}
        marks={[{ key: 'best', x: placeOfAlpha(best.alpha), label: strings.best, colour: 'var(--ink-2)' }]}
        x={ALPHA_AXIS}
        y={[Math.floor(Math.min(0, ...all) / 10) * 10, Math.ceil(Math.max(10, ...all) / 10) * 10]}
        ticksX={() => [-4, -3, -2, -1, 0, 1, 2, 3, 4]}
        xLabel={strings.alphaAxis}
        formatX={labelOfPlace}
        formatY={(value) => `${value} %`}
      />
      {values.some(({ y }) => Math.min(...y) < FLOOR) && <p className={pageStyles.lead}>{strings.cut}</p>}
      <details className={advisors.advanced}>
        <summary>{strings.allEvaluations}</summary>
        <Records
          low
          label={`${strings.allEvaluations}: ${policy}`}
          rows={sorted}
          id={({ alpha }) => alpha}
          isCurrent={({ alpha }) => alpha === best.alpha}
          columns={[
            { title: strings.alpha, cell: ({ alpha }) => showAlpha(alpha), as: 'head' },
            ...FIGURES.map((figure) => ({
              title: strings.figures[figure],
              cell: ({ figures }: Search['evaluations'][number]) => seconds(figures[figure]),
              as: 'number' as const,
            })),
            { title: strings.gain, cell: ({ gain }) => `${gain.toFixed(1)} %`, as: 'number' },
            { title: strings.allowed, cell: ({ allowed }) => (allowed ? strings.yes : strings.no) },
          ]}
        />
      </details>
    </Panel>
  )
}
