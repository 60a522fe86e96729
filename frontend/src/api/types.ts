/** Names for the shapes of the contract. */

import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Session = Schemas['SessionRead']
export type About = Schemas['About']
export type ApiKey = Schemas['ApiKeyRead']
export type ApiKeyCreated = Schemas['ApiKeyCreated']
export type Zone = Schemas['ZoneRead']
export type Vm = Schemas['VmRead']
export type Agent = Schemas['AgentRead']
export type AgentStatus = Agent['status']
export type Mesh = Schemas['MeshRead']
export type Roster = Schemas['RosterRead']
export type EnrolmentToken = Schemas['EnrolmentTokenCreated']
export type WorstPath = Schemas['WorstPath']
export type Path = Schemas['PathRead']
export type Direction = Schemas['OneWayRead']
export type RoundTrip = Schemas['DirectionRead']
export type Series = Schemas['SeriesRead']
export type Curve = Schemas['CurveRead']
export type CurveDetail = Schemas['CurveDetail']
export type CurvePoints = Schemas['CurvePoints']
export type Cost = Schemas['CostRead']
export type MetricSource = Schemas['MetricSourceRead']
export type MetricSourceInput = Schemas['MetricSourceCreate']
