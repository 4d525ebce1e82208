#!/bin/sh
# Builds the jar, and beside it an archive of the classes that a training run loads (AppCDS).
set -eu
mvn --quiet --batch-mode package
folder=$PWD/target/appcds
rm -rf "$folder"
mkdir "$folder"
cp target/locations-http4k-3.jar "$folder/app.jar"
# The JVM refuses the archive where the jar's time is another. In images every file has this one.
touch -d @0 "$folder/app.jar"
java training/Train.java "-XX:ArchiveClassesAtExit=$folder/app.jsa" -jar "$folder/app.jar"
test -s "$folder/app.jsa"
