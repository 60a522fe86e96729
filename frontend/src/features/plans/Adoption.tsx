import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { planAdoptionQuery } from '~/api/meshes'
import { Failed, Loading, Notice } from '~/ui/State'
import { strings } from './strings'

const NAMED = 5

/** The number of agents of a mesh that follow its newest plan. */
export function Adoption({ meshId }: { meshId: string }) {
  const { data, error, refetch } = useQuery(planAdoptionQuery(meshId))
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
  const names = data.first_behind.slice(0, NAMED)
  return (
    <Notice tone="info">
      {strings.someFollow(data.following, data.agents)}{' '}
      {strings.behind(names.join(', '), data.agents - data.following - names.length)}
    </Notice>
  )
}
