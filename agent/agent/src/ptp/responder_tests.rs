use super::*;

const NOW: RawTime = RawTime(0);

fn request(port: u16, sequence_id: u16) -> Message {
    Message {
        domain: 0,
        source: PortIdentity { clock: 7, port },
        sequence_id,
        correction: Correction(0),
        body: Body::DelayReq,
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// Let a request of a port identity arrive.
fn receive(
    responder: &mut Responder,
    from: &str,
    (port, sequence_id): (u16, u16),
) -> Result<Response, Refusal> {
    let request = request(port, sequence_id);
    responder.handle_request(&request, address(from), Receipt::Proven, NOW)
}

fn responder() -> Responder {
    let mut responder = Responder::default();
    let peers = [
        (address("10.0.0.1:319"), 320, 5),
        (address("10.0.0.2:5319"), 5320, 6),
    ];
    responder.set_peers(peers.into_iter(), NOW);
    responder
}

/// Feed sequence ids and return the reception report of the last response.
fn rx_report_after(sequence_ids: &[u16]) -> RxReportTlv {
    let (mut responder, mut last) = (responder(), None);
    for &sequence_id in sequence_ids {
        if let Ok(response) = receive(&mut responder, "10.0.0.1:319", (1, sequence_id)) {
            responder.count_sync(&response);
            last = Some(response);
        }
    }
    rx_report_of(&mut responder, &last.unwrap())
}

fn ask(responder: &mut Responder, port: u16, sequence_id: u16) -> Response {
    receive(responder, "10.0.0.1:319", (port, sequence_id)).unwrap()
}

/// Return the reception report of a response.
fn rx_report_of(responder: &mut Responder, response: &Response) -> RxReportTlv {
    let source = PortIdentity { clock: 9, port: 1 };
    let message = responder.delay_resp(response, source, 5, None, None);
    match message.unwrap().body {
        Body::DelayResp { rx_report, .. } => rx_report.unwrap(),
        body => panic!("{body:?}"),
    }
}

#[test]
fn only_peers_of_the_plan_are_answered() {
    let mut responder = responder();
    let ask = |responder: &mut Responder, from: &str| {
        let response = receive(responder, from, (1, 1));
        response.map(|response| (response.client, response.general()))
    };
    assert_eq!(ask(&mut responder, "10.0.0.3:319"), Err(Refusal::Stranger));
    // Another source port of a peer is another flow of it.
    for [from, general] in [
        ["10.0.0.1:319", "10.0.0.1:320"],
        ["10.0.0.2:40000", "10.0.0.2:5320"],
    ] {
        let expected = (address(from), address(general));
        assert_eq!(ask(&mut responder, from), Ok(expected));
    }
    responder.set_peers([(address("10.0.0.2:5319"), 5320, 6)].into_iter(), NOW);
    assert_eq!(ask(&mut responder, "10.0.0.1:319"), Err(Refusal::Stranger));
}

/// Check two agents at one address: a flow has a source port outside the plan, so its port identity shows its agent.
#[test]
fn flows_belong_to_the_port_identity_and_share_its_counts() {
    let mut responder = Responder::default();
    let peers = [("10.0.0.1:319", 320), ("10.0.0.1:5319", 5320)];
    let peers = peers.map(|(at, general)| (address(at), general, 0));
    responder.set_peers(peers.into_iter(), NOW);
    let flow = "10.0.0.1:40000";
    let unknown = receive(&mut responder, flow, (3, 8));
    assert_eq!(unknown, Err(Refusal::Stranger));
    receive(&mut responder, "10.0.0.1:5319", (3, 9)).unwrap();
    let response = receive(&mut responder, flow, (3, 10)).unwrap();
    assert_eq!(response.client, address(flow));
    assert_eq!(response.general(), address("10.0.0.1:5320"));
    responder.count_sync(&response);
    let rx_report = rx_report_of(&mut responder, &response);
    assert_eq!(
        (rx_report.requests, rx_report.syncs, rx_report.arrived),
        (2, 1, 0b11)
    );
}

#[test]
fn counts_continue_when_the_plan_changes_for_other_peers() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    ask(&mut responder, 1, 1);
    responder.set_peers(
        [(client, 320, 7), (address("10.0.0.9:319"), 320, 8)].into_iter(),
        NOW,
    );
    let response = ask(&mut responder, 1, 2);
    let rx_report = rx_report_of(&mut responder, &response);
    assert_eq!((rx_report.requests, rx_report.syncs), (2, 0));
    assert_eq!(response.vm.tag, 7, "that of the newest plan");
}

#[test]
fn reports_exactly_the_requests_that_arrived() {
    // Received in this order; 3 and 6 are missing, 4 came twice, 5 overtook 4.
    let rx_report = rx_report_after(&[1, 2, 5, 4, 4, 7]);
    let arrived: Vec<_> = (0..9).map(|id| rx_report.arrived(id)).collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(arrived, [None, yes, yes, no, yes, yes, no, yes, None]);
    assert_eq!(
        (rx_report.requests, rx_report.syncs, rx_report.newest),
        (5, 5, 7)
    );
}

#[test]
fn sequence_ids_run_over() {
    let rx_report = rx_report_after(&[65_534, 65_535, 1]);
    let arrived = [65_533, 65_534, 65_535, 0, 1, 2].map(|id| rx_report.arrived(id));
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(arrived, [None, yes, yes, no, yes, None]);
}

#[test]
fn the_map_reaches_128_back_and_no_further() {
    let all: Vec<u16> = (100..400).collect();
    let rx_report = rx_report_after(&all);
    assert_eq!(
        (rx_report.newest, rx_report.watched, rx_report.arrived),
        (399, 128, u128::MAX)
    );
    assert_eq!(
        (rx_report.arrived(272), rx_report.arrived(271)),
        (Some(true), None)
    );
    let rx_report = rx_report_after(&[100, 1000]);
    assert_eq!(
        (rx_report.watched, rx_report.arrived, rx_report.requests),
        (128, 1, 2)
    );
}

#[test]
fn a_very_late_request_changes_nothing() {
    let mut ids: Vec<u16> = (1000..1200).collect();
    let before = rx_report_after(&ids);
    ids.push(1001);
    assert_eq!(rx_report_after(&ids), before);
}

#[test]
fn a_restarted_client_is_counted_from_zero() {
    let mut responder = responder();
    ask(&mut responder, 1, 500);
    let response = ask(&mut responder, 2, 3);
    let rx_report = rx_report_of(&mut responder, &response);
    assert_eq!(
        (rx_report.requests, rx_report.watched, rx_report.newest),
        (1, 1, 3)
    );
}

#[test]
fn responses_are_limited_to_the_largest_rate_of_a_mesh() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    let answered = (0..20_000)
        .filter(|&i| {
            let now = RawTime(i64::from(i) * 50_000);
            let response = responder.handle_request(&request(1, i), client, Receipt::Proven, now);
            response.is_ok()
        })
        .count();
    assert!((2048..=4100).contains(&answered), "{answered} in a second");
}

#[test]
fn requests_before_an_overflow_are_not_reported() {
    let mut responder = responder();
    for sequence_id in 0..5 {
        ask(&mut responder, 1, sequence_id);
    }
    responder.forget_requests();
    let response = ask(&mut responder, 1, 9);
    let rx_report = rx_report_of(&mut responder, &response);
    assert_eq!(
        (rx_report.arrived(9), rx_report.arrived(8)),
        (Some(true), None)
    );
}

#[test]
fn compact_responses_carry_the_departures_of_earlier_syncs() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    let source = PortIdentity { clock: 9, port: 1 };
    let ask = |responder: &mut Responder, sequence_id: u16| {
        let message = Message {
            body: Body::CompactReq {
                soon: true,
                receipt: None,
                ecn: None,
            },
            ..request(1, sequence_id)
        };
        let response = responder
            .handle_request(&message, client, Receipt::Proven, NOW)
            .unwrap();
        assert_eq!(response.form, ResponseForm::Compact);
        responder.count_sync(&response);
        let times = (0, 1_000 * i64::from(sequence_id));
        let sync = responder
            .compact_resp(&response, source, times, None)
            .unwrap();
        let Body::CompactResp {
            response_tlv,
            rx_report,
            ..
        } = sync.body
        else {
            panic!("{sync:?}");
        };
        assert_eq!(
            (response_tlv.receive_ns, response_tlv.requester),
            (times.1, message.source)
        );
        (
            response,
            response_tlv.earlier().collect::<Vec<_>>(),
            rx_report,
        )
    };
    let (first, earlier, rx_report) = ask(&mut responder, 1);
    assert_eq!(
        (earlier, rx_report.requests, rx_report.syncs),
        (vec![], 1, 1)
    );
    responder.record_departure(&first, 1_007);
    let (second, earlier, _) = ask(&mut responder, 2);
    assert_eq!(earlier, [(1, 1_007)]);
    // The second could not be sent.
    responder.uncount_sync(&second);
    let (_, earlier, rx_report) = ask(&mut responder, 3);
    assert_eq!(earlier, [(1, 1_007)]);
    assert_eq!((rx_report.requests, rx_report.syncs), (3, 2));
}
