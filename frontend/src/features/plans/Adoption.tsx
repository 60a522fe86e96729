import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { planAdoptionQuery } from '~/api/meshes'
import type { PlanAdoption } from '~/api/types'
import { Failed, Loading, Notice } from '~/ui/State'
import { strings } from './strings'

const NAMED = 5

type Barrier = 'live' | 'active_everywhere' | 'first_waited_for' | 'first_not_live'
type Answer = Omit<PlanAdoption, Barrier> & Partial<Pick<PlanAdoption, Barrier>>

/** The agents of a mesh that follow its newest plan, and those that are waited for. */
export function Adoption({ meshId }: { meshId: string }) {
  const { data: found, error, refetch } = useQuery(planAdoptionQuery(meshId))
  const data: Answer | undefined = found
  if (error && !data) return <Failed what={strings.adoptionLower} error={error} retry={() => void refetch()} />
  if (!data) return <Loading what={strings.adoptionLower} />
  if (data.agents === 0) {
    return (
      <Notice tone="info">
        {strings.noAgents}{' '}
        <Link to="/onboarding" search={{ mesh: meshId }}>
          {strings.addVm}
        </Link>
      </Notice>
    )
  }
  if (data.following === data.agents) return <Notice tone="good">{strings.allFollow(data.agents)}</Notice>
  const words = data.active_everywhere
    ? [strings.activeEverywhere(data.live ?? data.following)]
    : [strings.someFollow(data.following, data.agents), ...waitingWords(data)]
  return <Notice tone={data.active_everywhere ? 'good' : 'info'}>{[...words, ...absentWords(data)].join(' ')}</Notice>
}

/** The agents that the barrier waits for. A backend of an earlier version does not say which agents are live. */
function waitingWords(data: Answer) {
  if (data.live === undefined || data.first_waited_for === undefined) {
    const names = data.first_behind.slice(0, NAMED)
    return [strings.behind(names.join(', '), data.agents - data.following - names.length)]
  }
  const names = data.first_waited_for.slice(0, NAMED)
  const waiting = data.live - data.following
  return waiting > 0 ? [strings.waiting(waiting, data.live, names.join(', '), waiting - names.length)] : []
}

function absentWords(data: Answer) {
  if (data.live === undefined || data.first_not_live === undefined || data.live === data.agents) return []
  const names = data.first_not_live.slice(0, NAMED)
  const absent = data.agents - data.live
  return [strings.notLive(absent, names.join(', '), absent - names.length)]
}
