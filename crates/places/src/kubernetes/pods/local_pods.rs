//! Pods whose node is this host, or a container on it: their processes are seen from here.

/// Returns the processes of a container, by their numbers on this host; none if it runs on another
/// one. `identity` is as the API server says it, `containerd://0123...`.
pub(crate) fn processes(identity: &str) -> Vec<u32> {
    let id = identity.rsplit('/').next().unwrap_or_default();
    let all = procfs::process::all_processes();
    let all = all.into_iter().flatten().flatten();
    let of_container = all.filter(|process| {
        let groups = process.cgroups();
        let mut groups = groups.into_iter().flatten();
        !id.is_empty() && groups.any(|group| group.pathname.contains(id))
    });
    of_container
        .filter_map(|process| u32::try_from(process.pid()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::processes;

    #[test]
    fn a_container_of_another_host_has_no_processes_here() {
        assert!(processes("").is_empty());
        assert!(processes("containerd://").is_empty());
        let elsewhere =
            "containerd://4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a";
        assert!(processes(elsewhere).is_empty());
    }

    #[test]
    fn processes_are_found_by_their_group() {
        let own = procfs::process::Process::myself().unwrap();
        let groups = own.cgroups().unwrap();
        let mut names = groups
            .0
            .iter()
            .filter_map(|group| group.pathname.rsplit('/').next());
        // In the root of every hierarchy there is no name to find it by.
        if let Some(name) = names.find(|name| name.len() > 20) {
            assert!(processes(&format!("containerd://{name}")).contains(&std::process::id()));
        }
    }
}
