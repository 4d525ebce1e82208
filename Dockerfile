# The static binary and nothing else. BINARY is its path in the build context, which the release
# workflow fills with one folder for each architecture: docker build --build-arg BINARY=bakeoff .
FROM scratch
ARG BINARY=bakeoff
# Makes the folder for temporary files, which an empty image lacks.
WORKDIR /tmp
WORKDIR /work
COPY ${BINARY} /bin/bakeoff
ENTRYPOINT ["/bin/bakeoff"]
CMD ["help"]
