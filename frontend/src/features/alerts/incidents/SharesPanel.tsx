import type { Incident } from '~/api/incidents'
import { formatShare } from '~/lib/performance'
import { formatCount, threeDigits } from '~/lib/units'
import { TextLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from '../strings'

/** The uneven shares that an incident is about: the index, its limit, and the members with the least shares. */
export function SharesPanel({ incident: { evidence, mesh } }: { incident: Incident }) {
  const { fairness } = evidence
  if (!fairness) return null
  const { among, index, below, path, count, members } = fairness
  const [source, target] = path ?? []
  const all = strings.membersOf[among](formatCount(count))
  const named = source && target ? strings.flowsBetween(all, source, target) : all
  const ends = source && target ? { source, target } : {}
  return (
    <Panel title={strings.shares}>
      <p className={pageStyles.lead}>
        {strings.sharesOf(named, index.toFixed(3), String(below))}{' '}
        {members.length < count && strings.leastShares(formatCount(members.length), formatCount(count))}{' '}
        <TextLink size="sm" underline="always" to="/advisors/fairness" search={{ mesh: mesh.id, of: among, ...ends }}>
          {strings.sharesNow}
        </TextLink>
      </p>
      <Records
        low
        label={strings.shares}
        rows={members}
        id={({ name }) => name}
        columns={[
          { title: strings.member, cell: ({ name }) => name, as: 'head' },
          { title: strings.shareColumn[among], cell: ({ share }) => threeDigits(share), as: 'number' },
          { title: strings.relativeShare, cell: ({ relative }) => formatShare(relative), as: 'number' },
        ]}
      />
    </Panel>
  )
}
