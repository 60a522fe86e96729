import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { planAdoptionQuery } from '~/api/meshes'
import type { PlanAdoption } from '~/api/types'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import pageStyles from '~/ui/page.module.css'
import { Failed, Loading, Notice } from '~/ui/State'
import { strings } from './strings'

const NAMED = 5

type Barrier = 'live' | 'active_everywhere' | 'active_since' | 'first_waited_for' | 'first_not_live'
type Earlier = Omit<PlanAdoption, Barrier> & { live?: undefined }

/** The agents of a mesh that follow its newest plan, and those that are waited for. */
export function Adoption({ meshId }: { meshId: string }) {
  const { data: found, error, refetch } = useQuery(planAdoptionQuery(meshId))
  // A backend of an earlier version does not say which agents are live.
  const data: PlanAdoption | Earlier | undefined = found
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
  if (data.live === undefined) return <Followers data={data} />
  return (
    <>
      <ControlGroup data={data} />
      <p className={pageStyles.quiet}>{strings.joining(data.revision)}</p>
    </>
  )
}

function Followers({ data: { following, agents, first_behind } }: { data: Earlier }) {
  if (following === agents) return <Notice tone="good">{strings.allFollow(agents)}</Notice>
  const names = first_behind.slice(0, NAMED)
  return (
    <Notice tone="info">
      {strings.someFollow(following, agents)} {strings.behind(names.join(', '), agents - following - names.length)}
    </Notice>
  )
}

function ControlGroup({ data }: { data: PlanAdoption }) {
  const clock = useClock()
  const since = data.active_since ? new Date(data.active_since) : null
  const words = [strings.revision(data.revision)]
  if (since) {
    words.push(strings.activeEverywhere(formatMoment(since, clock), data.live))
  } else {
    words.push(strings.liveFollow(data.following, data.live))
    const waiting = data.live - data.following
    const names = data.first_waited_for.slice(0, NAMED)
    if (waiting > 0) words.push(strings.waiting(names.join(', '), waiting - names.length))
  }
  const absent = data.agents - data.live
  const names = data.first_not_live.slice(0, NAMED)
  if (absent > 0) words.push(strings.notLive(absent, names.join(', '), absent - names.length))
  return <Notice tone={since ? 'good' : 'info'}>{words.join(' ')}</Notice>
}
