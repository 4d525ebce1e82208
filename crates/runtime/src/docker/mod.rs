//! Contenders as containers of a Docker Engine (or of Podman's compatible socket).
