import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { curveQuery, useCreateCurveVersion } from '~/api/curves'
import { TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { Unloaded } from '~/ui/Unloaded'
import { MeasurementsForm } from './MeasurementsForm'
import { strings } from './strings'

/** Add newer measurements of an existing curve. */
export function NewVersionPage({ curveId }: { curveId: string }) {
  const navigate = useNavigate()
  const query = useQuery(curveQuery(curveId))
  const create = useCreateCurveVersion(curveId)
  if (!query.data) {
    return <Unloaded query={query} title={strings.newVersion} what={strings.curveLower} failed={strings.theCurve} />
  }
  const { curve } = query.data
  return (
    <Page
      title={strings.newVersionOf(curve.name)}
      lead={strings.newVersionLead(curve.metric, curve.newest)}
      action={
        <TextLink to="/curves/$curveId" params={{ curveId }}>
          {strings.backToCurve}
        </TextLink>
      }
    >
      <MeasurementsForm
        action={strings.fitVersion}
        pending={create.isPending}
        error={create.error}
        onSubmit={(input) =>
          create.mutate(input, { onSuccess: () => void navigate({ to: '/curves/$curveId', params: { curveId } }) })
        }
      />
    </Page>
  )
}
