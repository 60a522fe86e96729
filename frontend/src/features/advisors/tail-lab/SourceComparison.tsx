import type { TailStudy } from '~/api/types'
import { threeDigits } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { showAlpha } from './outcomes'
import { strings } from './strings'

type Row = TailStudy['beside_source'][number]

const withAlpha = (percent: number, alpha: number | null) =>
  `${threeDigits(percent)} %${alpha === null ? '' : `, α = ${showAlpha(alpha)}`}`

/** Gains that the source prints next to those found here, with what agrees, what cannot, and why. */
export function SourceComparison({ rows }: { rows: Row[] }) {
  const reasons = [...new Set(rows.filter(({ verdict }) => verdict !== 'agrees').map(({ why }) => why))]
  return (
    <Panel title={strings.source}>
      <p className={pageStyles.lead}>{strings.sourceLead}</p>
      <Records
        label={strings.source}
        rows={rows}
        id={({ protocol, policy, figure }) => `${protocol} ${policy} ${figure}`}
        columns={[
          {
            title: strings.gain,
            cell: ({ figure, policy, against }) =>
              strings.gainIn(strings.figures[figure], strings.names[policy], strings.names[against]),
            as: 'head',
          },
          { title: strings.protocol, cell: ({ protocol }) => protocol },
          {
            title: strings.inSource,
            cell: ({ source_percent, source_alpha }) => withAlpha(source_percent, source_alpha),
            as: 'number',
          },
          {
            title: strings.here,
            cell: ({ here_percent, here_alpha }) => withAlpha(here_percent, here_alpha),
            as: 'number',
          },
          { title: strings.verdict, cell: ({ verdict }) => strings.verdicts[verdict] },
        ]}
      />
      <ul className={pageStyles.lead}>
        {reasons.map((why) => (
          <li key={why}>{why}</li>
        ))}
      </ul>
    </Panel>
  )
}
