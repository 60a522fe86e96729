import { useQuery } from '@tanstack/react-query'
import { meshesQuery } from '~/api/meshes'
import { ButtonLink } from '~/ui/links'
import { LoadingPage } from '~/ui/Page'
import { Empty, Failed } from '~/ui/State'
import { strings } from '../strings'
import { draftOfPath, draftOfShares } from './draft'
import { RuleEditor } from './RuleEditor'
import type { NewRuleSearch } from './search'

/** A new rule of a mesh; of the first one where the address names none. */
export function NewRulePage({ search: { mesh, source, target, among, above } }: { search: NewRuleSearch }) {
  const meshes = useQuery({ ...meshesQuery, enabled: mesh === undefined })
  const meshId = mesh ?? meshes.data?.[0]?.id
  const ofPath = source && target ? draftOfPath(source, target, above) : undefined
  const initial = among ? draftOfShares(among, ofPath?.path ?? []) : ofPath
  if (meshId !== undefined) return <RuleEditor meshId={meshId} initial={initial} />
  if (meshes.error) return <Failed what={strings.meshes} error={meshes.error} retry={() => void meshes.refetch()} />
  if (!meshes.data) return <LoadingPage title={strings.newRule} what={strings.meshesLower} />
  return (
    <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
      {strings.ruleNeedsMesh}
    </Empty>
  )
}
